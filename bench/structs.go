package main

// The structs of the loads' messages, as far as a Hive 3 metastore fills them. What is not here is lost on the
// way through the decoding proxy, as it is in any gateway that decodes with another version's structs.

type column struct{ name, typ, comment string }

type sortOrder struct {
	column string
	order  int32
}

type serde struct {
	name, library string
	parameters    map[string]string
}

type skewed struct {
	names  []string
	values []stringList
}

type stringList []string

type storageDescriptor struct {
	columns                 []*column
	location, input, output string
	compressed              bool
	buckets                 int32
	serde                   *serde
	bucketColumns           []string
	sort                    []*sortOrder
	parameters              map[string]string
	skewed                  *skewed
	subdirectories          bool
}

type partitionStruct struct {
	values            []string
	database, table   string
	created, accessed int32
	storage           *storageDescriptor
	parameters        map[string]string
	catalog           *string
}

type tableStruct struct {
	name, database, owner        string
	created, accessed, retention int32
	storage                      *storageDescriptor
	keys                         []*column
	parameters                   map[string]string
	viewText, viewExpanded, kind string
	catalog                      *string
}

// callArgs serves all loads: database, table or pattern, and a limit.
type callArgs struct {
	database, table string
	limit           int16
	limited         bool
}

type (
	namesResult      struct{ names []string }
	tableResult      struct{ table *tableStruct }
	partitionsResult struct{ partitions []*partitionStruct }
)

var (
	plainArgs   = func() coder { return &callArgs{} }
	limitedArgs = func() coder { return &callArgs{limited: true} }

	arguments = map[string]func() coder{"get_tables": plainArgs, "get_table": plainArgs, "get_partitions": limitedArgs}
	results   = map[string]func() coder{
		"get_tables":     func() coder { return &namesResult{} },
		"get_table":      func() coder { return &tableResult{} },
		"get_partitions": func() coder { return &partitionsResult{} },
	}
)

// Field ids in the order of writing, hive_metastore.thrift.
var (
	success      = []int16{0}
	twoArgs      = []int16{1, 2}
	threeArgs    = []int16{1, 2, 3}
	storageIDs   = []int16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	partitionIDs = []int16{1, 2, 3, 4, 5, 6, 7, 9}
	tableIDs     = []int16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 17}
)

func (x *callArgs) code(c *codec) {
	ids := twoArgs
	if x.limited {
		ids = threeArgs
	}
	for f := c.begin(ids); c.next(&f); {
		switch f.id {
		case 1:
			c.database(&f, &x.database)
		case 2:
			c.str(&f, &x.table)
		case 3:
			c.i16(&f, &x.limit)
		default:
			c.skip(&f)
		}
	}
}

func (x *namesResult) code(c *codec) {
	for f := c.begin(success); c.next(&f); {
		if f.id == 0 {
			c.strs(&f, &x.names)
		} else {
			c.skip(&f)
		}
	}
}

func (x *tableResult) code(c *codec) {
	for f := c.begin(success); c.next(&f); {
		if f.id == 0 {
			structure(c, &f, &x.table)
		} else {
			c.skip(&f)
		}
	}
}

func (x *partitionsResult) code(c *codec) {
	for f := c.begin(success); c.next(&f); {
		if f.id == 0 {
			structures(c, &f, &x.partitions)
		} else {
			c.skip(&f)
		}
	}
}

func (x *column) code(c *codec) {
	for f := c.begin(threeArgs); c.next(&f); {
		switch f.id {
		case 1:
			c.str(&f, &x.name)
		case 2:
			c.str(&f, &x.typ)
		case 3:
			c.str(&f, &x.comment)
		default:
			c.skip(&f)
		}
	}
}

func (x *sortOrder) code(c *codec) {
	for f := c.begin(twoArgs); c.next(&f); {
		switch f.id {
		case 1:
			c.str(&f, &x.column)
		case 2:
			c.i32(&f, &x.order)
		default:
			c.skip(&f)
		}
	}
}

func (x *serde) code(c *codec) {
	for f := c.begin(threeArgs); c.next(&f); {
		switch f.id {
		case 1:
			c.str(&f, &x.name)
		case 2:
			c.str(&f, &x.library)
		case 3:
			c.strMap(&f, &x.parameters)
		default:
			c.skip(&f)
		}
	}
}

// The map of field 3, keyed by lists, has no form in Go and is left out, as Thrift's Go compiler refuses it.
func (x *skewed) code(c *codec) {
	for f := c.begin(twoArgs); c.next(&f); {
		switch f.id {
		case 1:
			c.strs(&f, &x.names)
		case 2:
			c.lists(&f, &x.values)
		default:
			c.skip(&f)
		}
	}
}

func (x *storageDescriptor) code(c *codec) {
	for f := c.begin(storageIDs); c.next(&f); {
		switch f.id {
		case 1:
			structures(c, &f, &x.columns)
		case 2:
			c.str(&f, &x.location)
		case 3:
			c.str(&f, &x.input)
		case 4:
			c.str(&f, &x.output)
		case 5:
			c.boolean(&f, &x.compressed)
		case 6:
			c.i32(&f, &x.buckets)
		case 7:
			structure(c, &f, &x.serde)
		case 8:
			c.strs(&f, &x.bucketColumns)
		case 9:
			structures(c, &f, &x.sort)
		case 10:
			c.strMap(&f, &x.parameters)
		case 11:
			structure(c, &f, &x.skewed)
		case 12:
			c.boolean(&f, &x.subdirectories)
		default:
			c.skip(&f)
		}
	}
}

func (x *partitionStruct) code(c *codec) {
	for f := c.begin(partitionIDs); c.next(&f); {
		switch f.id {
		case 1:
			c.strs(&f, &x.values)
		case 2:
			c.database(&f, &x.database)
		case 3:
			c.str(&f, &x.table)
		case 4:
			c.i32(&f, &x.created)
		case 5:
			c.i32(&f, &x.accessed)
		case 6:
			structure(c, &f, &x.storage)
		case 7:
			c.strMap(&f, &x.parameters)
		case 9:
			c.optStr(&f, &x.catalog)
		default:
			c.skip(&f)
		}
	}
}

func (x *tableStruct) code(c *codec) {
	for f := c.begin(tableIDs); c.next(&f); {
		switch f.id {
		case 1:
			c.str(&f, &x.name)
		case 2:
			c.database(&f, &x.database)
		case 3:
			c.str(&f, &x.owner)
		case 4:
			c.i32(&f, &x.created)
		case 5:
			c.i32(&f, &x.accessed)
		case 6:
			c.i32(&f, &x.retention)
		case 7:
			structure(c, &f, &x.storage)
		case 8:
			structures(c, &f, &x.keys)
		case 9:
			c.strMap(&f, &x.parameters)
		case 10:
			c.str(&f, &x.viewText)
		case 11:
			c.str(&f, &x.viewExpanded)
		case 12:
			c.str(&f, &x.kind)
		case 17:
			c.optStr(&f, &x.catalog)
		default:
			c.skip(&f)
		}
	}
}
