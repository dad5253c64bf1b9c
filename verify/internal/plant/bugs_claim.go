package plant

// claims has the mistakes in internal/claim.
var claims = []Bug{
	{
		Name:   "claim-without-exchange",
		Breaks: "a task is claimed that a worker has begun meanwhile",
		Edits: []Edit{{
			File: "internal/claim/claim.go",
			Old:  "return s.word.CompareAndSwap(0, outOfTurn) }",
			New:  "\n\tif PLANTED {\n\t\treturn s.word.Load() == 0 && s.word.Or(outOfTurn)&outOfTurn == 0\n\t}\n\treturn s.word.CompareAndSwap(0, outOfTurn)\n}",
		}},
	},
	{
		Name:   "claim-begins-void",
		Breaks: "a worker begins the void job of a task that was claimed",
		Edits: []Edit{{
			File: "internal/claim/claim.go",
			Old:  "	return s.word.CompareAndSwap(0, begun)\n",
			New:  "	if PLANTED {\n\t\treturn s.word.Or(begun)&(begun|over) == 0\n\t}\n	return s.word.CompareAndSwap(0, begun)\n",
		}},
	},
	{
		Name:   "claim-gives-up-begun",
		Breaks: "a caller gives a task up that has begun",
		Edits: []Edit{{
			File: "internal/claim/claim.go",
			Old:  "return s.word.CompareAndSwap(0, over) }",
			New:  "\n\tif PLANTED {\n\t\treturn s.word.Or(over)&over == 0\n\t}\n\treturn s.word.CompareAndSwap(0, over)\n}",
		}},
	},
	{
		Name:   "claim-ends-twice",
		Breaks: "a task has two outcomes",
		Edits: []Edit{{
			File: "internal/claim/claim.go",
			Old:  "return s.word.Or(over)&over == 0 }",
			New:  "\n\tif PLANTED {\n\t\tended := s.word.Load()&over == 0\n\t\ts.word.Or(over)\n\t\treturn ended\n\t}\n\treturn s.word.Or(over)&over == 0\n}",
		}},
	},
}
