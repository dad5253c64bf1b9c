package plant

// par has mistakes in streams and loops.
var par = []Bug{
	{
		Name:   "stream-hands-over-after-the-end",
		Breaks: "results that are ready are handed over when the context is done",
		Edits: []Edit{{
			File: "par/stream_deliver.go",
			Old:  "if f.ctx.Err() != nil {\n\t\t\t\tbreak",
			New:  "if f.ctx.Err() != nil && !PLANTED {\n\t\t\t\tbreak",
		}},
	},
	{
		Name:   "stream-forgets-the-cause",
		Breaks: "a stream ends with the error of the context instead of its cause",
		Edits: []Edit{{
			File: "par/stream_deliver.go",
			Old:  "yield(none, context.Cause(f.ctx))",
			New:  "cause := context.Cause(f.ctx)\n\t\t\t\tif PLANTED {\n\t\t\t\t\tcause = f.ctx.Err()\n\t\t\t\t}\n\t\t\t\tyield(none, cause)",
		}},
	},
	{
		Name:   "panic-is-a-result-first",
		Breaks: "the consumer gets a panic as an error, before the range statement panics",
		Edits: []Edit{{
			File: "par/stream_deliver.go",
			Old:  "&& !f.panicked() {",
			New:  "&& (PLANTED || !f.panicked()) {",
		}},
	},
	{
		Name:   "stream-leaves-its-calls",
		Breaks: "the range statement does not wait for calls under way",
		Edits: []Edit{{
			File: "par/stream_deliver.go",
			Old:  "\t\t_ = f.helpers.Wait() // its errors are known\n",
			New:  "\t\tif !PLANTED {\n\t\t\t_ = f.helpers.Wait()\n\t\t}\n",
		}},
	},
	{
		Name:   "source-read-one-too-far",
		Breaks: "the source is read one item beyond Ahead",
		Edits: []Edit{{
			File: "par/stream_feeder.go",
			Old:  "return f.fed == int(f.taken.Load())+f.ahead",
			New:  "ahead := f.ahead\n\tif PLANTED {\n\t\tahead++\n\t}\n\treturn f.fed == int(f.taken.Load())+ahead",
		}},
	},
	{
		Name:   "reader-is-not-relieved",
		Breaks: "the reader of the source does not say that it waits",
		Edits: []Edit{{
			File: "par/stream_feeder.go",
			Old:  "f.starved.Store(true) // under mu",
			New:  "f.starved.Store(!PLANTED) // under mu",
		}},
	},
	{
		Name:   "source-that-exits-just-ends",
		Breaks: "a source that calls runtime.Goexit is no failure",
		Edits: []Edit{{
			File: "par/stream_feeder.go",
			Old:  "case exited && wanted:",
			New:  "case exited && wanted && !PLANTED:",
		}},
	},
	{
		Name:   "slice-begun-one-too-far",
		Breaks: "one more item of a slice than Ahead is begun",
		Edits: []Edit{{
			File: "par/stream_flow.go",
			Old:  "f.next < int(f.taken.Load())+f.ahead",
			New:  "(f.next < int(f.taken.Load())+f.ahead || PLANTED && f.next == int(f.taken.Load())+f.ahead)",
		}},
	},
	{
		Name:   "one-helper-too-many",
		Breaks: "one more call than the limit runs",
		Edits: []Edit{{
			File: "par/stream_flow.go",
			Old:  "f.active == f.limit ||",
			New:  "(f.active == f.limit && !PLANTED || f.active > f.limit) ||",
		}},
	},
	{
		Name:   "helper-is-missing",
		Breaks: "no goroutine looks for another helper when the next result is taken",
		Edits: []Edit{{
			File: "par/stream_flow.go",
			Old:  "!f.mayBegin() {",
			New:  "(PLANTED && !f.startable() || !PLANTED && !f.mayBegin()) {",
		}},
	},
	{
		Name:   "refused-helper-wakes-nobody",
		Breaks: "the consumer does not learn that the pool had no room for a helper",
		Edits: []Edit{{
			File: "par/stream_flow.go",
			Old:  "if f.active == 0 {",
			New:  "if f.active == 0 && !PLANTED {",
		}},
	},
	{
		Name:   "helper-gives-up-for-good",
		Breaks: "a helper that ends since too few results were taken does not say so",
		Edits: []Edit{{
			File: "par/stream_helper.go",
			Old:  "f.starved.Store(true)\n\treturn f.startable()",
			New:  "f.starved.Store(!PLANTED)\n\treturn f.startable()",
		}},
	},
	{
		Name:   "exit-of-the-wrong-item",
		Breaks: "a call that calls runtime.Goexit fails with the next one's index",
		Edits: []Edit{{
			File: "par/stream_helper.go",
			Old:  "awaited := f.complete(number, outcome[R]{err: &weir.TaskError{Index: number, Err: weir.ErrGoexit}})",
			New: "failure := &weir.TaskError{Index: number, Err: weir.ErrGoexit}\n\t\t\tif PLANTED {\n\t\t\t\tfailure.Index++\n\t\t\t}\n" +
				"\t\t\tawaited := f.complete(number, outcome[R]{err: failure})",
		}},
	},
	{
		Name:   "value-beside-an-error",
		Breaks: "a stream drops what a call returned together with its error",
		Edits: []Edit{{
			File: "par/stream_helper.go",
			Old:  "result.err = &weir.TaskError{Index: number, Err: err}",
			New:  "result.err = &weir.TaskError{Index: number, Err: err}\n\t\tif PLANTED {\n\t\t\tvar none R\n\t\t\tresult.value = none\n\t\t}",
		}},
	},
	{
		Name:   "errors-out-of-order",
		Breaks: "a loop that keeps going joins its errors as they came",
		Edits: []Edit{{
			File: "par/loop.go",
			Old:  "{ return cmp.Compare(x.Index, y.Index) })",
			New:  "{\n\t\tif PLANTED {\n\t\t\treturn 0\n\t\t}\n\t\treturn cmp.Compare(x.Index, y.Index)\n\t})",
		}},
	},
	{
		Name:   "result-of-a-failed-call",
		Breaks: "Map drops the value that comes with an error",
		Edits: []Edit{{
			File: "par/each.go",
			Old:  "results[i] = result\n\t\t\treturn err\n",
			New:  "if !PLANTED || err == nil {\n\t\t\t\tresults[i] = result\n\t\t\t}\n\t\t\treturn err\n",
		}},
	},
	{
		Name:   "kept-although-failed",
		Breaks: "Filter keeps items for which its function failed",
		Edits: []Edit{{
			File: "par/each.go",
			Old:  "kept[i] = ok && err == nil",
			New:  "kept[i] = ok && (err == nil || PLANTED)",
		}},
	},
	{
		Name:   "half-of-a-share-is-too-short",
		Breaks: "an item is lost when a share is halved",
		Edits: []Edit{{
			File: "internal/share/share.go",
			Old:  "s.runs[0].Hi, taken.Lo = middle, middle",
			New:  "s.runs[0].Hi, taken.Lo = middle, middle\n\t\tif PLANTED && taken.Hi-middle > 1 {\n\t\t\ttaken.Lo++\n\t\t\ts.left.Add(-1)\n\t\t}",
		}},
	},
	{
		Name:   "item-lost-behind-an-exit",
		Breaks: "the item behind one that called runtime.Goexit is lost",
		Edits: []Edit{{
			File: "par/loop_worker.go",
			Old:  "w.Put(share.Run{Lo: w.at + 1, Hi: w.claim.Hi})",
			New:  "next := w.at + 1\n\tif PLANTED && next < w.claim.Hi {\n\t\tnext++\n\t}\n\tw.Put(share.Run{Lo: next, Hi: w.claim.Hi})",
		}},
	},
	{
		Name:   "interrupted-claim-is-lost",
		Breaks: "what a worker leaves of a claim is lost",
		Edits: []Edit{{
			File: "par/loop_worker.go",
			Old:  "w.Put(share.Run{Lo: next, Hi: w.claim.Hi}) // what it was interrupted at",
			New:  "if PLANTED && next < w.claim.Hi {\n\t\t\t\tnext++\n\t\t\t}\n\t\t\tw.Put(share.Run{Lo: next, Hi: w.claim.Hi}) // what it was interrupted at",
		}},
	},
	{
		Name:   "loop-reads-on",
		Breaks: "a loop that has failed reads its source to the end",
		Edits: []Edit{{
			File: "par/loop_pulled.go",
			Old:  "return members.Err() == nil",
			New:  "return PLANTED || members.Err() == nil",
		}},
	},
	{
		Name:   "source-error-gets-an-index",
		Breaks: "an error of the source is reported as that of a call",
		Edits: []Edit{{
			File: "par/loop_pulled.go",
			Old:  "return sourceError{err} }",
			New:  "if PLANTED {\n\t\t\treturn err\n\t\t}\n\t\treturn sourceError{err}\n\t}",
		}},
	},
	{
		Name:   "batch-of-one-more",
		Breaks: "a batch has one item more than its size",
		Edits: []Edit{{
			File: "par/stream_batch.go",
			Old:  "return len(b.batch) < b.size ||",
			New:  "return len(b.batch) < b.size || PLANTED && len(b.batch) == b.size ||",
		}},
	},
	{
		Name:   "error-overtakes-its-batch",
		Breaks: "the batch begun is not handed over before an error",
		Edits: []Edit{{
			File: "par/stream_batch.go",
			Old:  "return b.flush() && b.hand(nil, err)",
			New:  "return (PLANTED || b.flush()) && b.hand(nil, err)",
		}},
	},
	{
		Name:   "batch-waits-for-its-last-item",
		Breaks: "the time of a batch begins anew with each item",
		Edits: []Edit{{
			File: "par/stream_batch.go",
			Old:  "if len(b.batch) == 1 {",
			New:  "if len(b.batch) == 1 || PLANTED {",
		}},
	},
}
