package step

// Controlled says whether the package under test was rewritten to take its steps from this package. An
// overlay replaces this file to say so.
const Controlled = false
