package plant

import "slices"

// engine has the mistakes in internal/engine, part by part.
var engine = slices.Concat(enginePermits, engineRings, engineSubmit, engineWorker, engineWait, engineControl, engineNested, engineReturn, engineTally)
