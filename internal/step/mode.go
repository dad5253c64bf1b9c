package step

// Controlled says whether the package under test has been rewritten to take its steps from
// this one. An overlay replaces this file to say so.
const Controlled = false
