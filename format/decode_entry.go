package format

// entry decodes the members of an entry's own type. Each type has its list of fields, and reads them by their place in
// it. Where something is missing without which the entry is not one of its type, d.unusable says so.
func (d *Decoder) entry(typ string, env Envelope) Entry {
	switch typ {
	case TypeItem:
		return d.itemEntry(env)
	case TypeResponse:
		return d.responseEntry(env)
	case TypeConfig:
		return d.configEntry(env)
	case TypeCompaction:
		return d.compactionEntry(env)
	case TypeBranchSummary:
		return d.branchSummaryEntry(env)
	case TypeRun:
		return d.runEntry(env)
	case TypeDispatch:
		return d.dispatchEntry(env)
	case TypeDecision:
		return d.decisionEntry(env)
	case TypeLabel:
		return d.labelEntry(env)
	case TypeInfo:
		return d.infoEntry(env)
	case TypeEnv:
		return d.envEntry(env)
	case TypeOutcome:
		return d.outcomeEntry(env)
	case TypeLink:
		return d.linkEntry(env)
	case TypeCustom:
		return d.customEntry(env)
	case TypeQueued:
		return d.queuedEntry(env)
	}
	return d.unknown(typ, env)
}

var itemFields = []field{{name: "item"}, {name: "response"}, {name: "visible"}, {"queued_from", '"'}, {"source", '{'}}

func (d *Decoder) itemEntry(env Envelope) Entry {
	e := &ItemEntry{Envelope: env}
	f := d.fields(&e.Envelope, itemFields)
	e.Item = d.lineItem(f[0])
	e.ResponseID = d.text(f[1])
	e.Visible = d.bool(f[2])
	e.QueuedFrom = d.text(f[3])
	e.Source = d.value(f[4])
	return e
}

var responseFields = []field{
	{name: "response_id"},
	{name: "model"},
	{name: "status"},
	{name: "usage"},
	{name: "incomplete"},
	{name: "error"},
	{name: "request_hash"},
	{name: "latency_ms"},
	{"attempts", 'i'},
}

func (d *Decoder) responseEntry(env Envelope) Entry {
	e := &ResponseEntry{Envelope: env}
	f := d.fields(&e.Envelope, responseFields)
	e.ResponseID = d.text(f[0])
	e.Model = d.text(f[1])
	e.Status = d.text(f[2])
	e.Usage = d.usage(f[3])
	e.Incomplete = d.incomplete(f[4])
	e.Error = d.responseError(f[5])
	e.RequestHash = d.text(f[6])
	e.LatencyMS = d.integer(f[7])
	e.Attempts = d.integer(f[8])
	return e
}

var configFields = []field{
	{name: "model"},
	{name: "instructions"},
	{name: "reasoning"},
	{name: "text"},
	{name: "tools_added"},
	{name: "tools_removed"},
	{name: "extra"},
	{name: "replace"},
	{"instructions_parts", '['},
	{"instructions_omitted", '['},
	{"omit", '{'},
}

func (d *Decoder) configEntry(env Envelope) Entry {
	e := &ConfigEntry{Envelope: env}
	f := d.fields(&e.Envelope, configFields)
	e.Model = d.text(f[0])
	e.Instructions = d.optionalText(f[1])
	e.Reasoning = d.value(f[2])
	e.Text = d.value(f[3])
	e.ToolsAdded = d.values(f[4])
	e.ToolsRemoved = d.texts(f[5])
	e.Extra = d.members(f[6])
	if replace := d.bool(f[7]); replace != nil {
		e.Replace = *replace
	}
	e.Parts = d.value(f[8])
	e.Omitted = d.value(f[9])
	e.Omit = d.value(f[10])
	return e
}

var compactionFields = []field{
	{name: "first_kept"},
	{name: "summary"},
	{name: "config"},
	{name: "tokens_before"},
	{name: "usage"},
	{"pinned", '['},
}

func (d *Decoder) compactionEntry(env Envelope) Entry {
	e := &CompactionEntry{Envelope: env}
	f := d.fields(&e.Envelope, compactionFields)
	e.FirstKept = d.must(f[0])
	e.Summary = d.item(f[1])
	if d.isObject(f[2]) {
		e.Config = f[2].raw
	} else {
		d.complain(f[2].at, "%q is missing", f[2].name)
		d.unusable = true
	}
	e.TokensBefore = d.integer(f[3])
	e.Usage = d.usage(f[4])
	e.Pinned = d.items(f[5])
	return e
}

var branchSummaryFields = []field{{name: "from"}, {name: "summary"}, {name: "usage"}}

func (d *Decoder) branchSummaryEntry(env Envelope) Entry {
	e := &BranchSummaryEntry{Envelope: env}
	f := d.fields(&e.Envelope, branchSummaryFields)
	e.From = d.should(f[0])
	e.Summary = d.item(f[1])
	e.Usage = d.usage(f[2])
	return e
}

var runFields = []field{
	{name: "run_id"},
	{name: "phase"},
	{name: "source"},
	{name: "reason"},
	{name: "pending"},
	{name: "ref"},
	{"trigger", '{'},
}

// runEntry does not ask for source, reason and pending: what the run was can be computed (A.10), and to compare is the
// business of verification.
func (d *Decoder) runEntry(env Envelope) Entry {
	e := &RunEntry{Envelope: env}
	f := d.fields(&e.Envelope, runFields)
	e.RunID = d.must(f[0])
	e.Phase = d.must(f[1])
	if e.Phase != "" && e.Phase != PhaseStart && e.Phase != PhaseEnd {
		d.complain(f[1].at, "%q is neither %s nor %s", f[1].name, PhaseStart, PhaseEnd)
		d.unusable = true
	}
	e.Source = d.text(f[2])
	e.Reason = d.text(f[3])
	e.Pending = d.texts(f[4])
	e.Ref = d.text(f[5])
	e.Trigger = d.trigger(f[6])
	return e
}

var dispatchFields = []field{{name: "call_id"}, {name: "target"}, {"idempotency_key", '"'}}

func (d *Decoder) dispatchEntry(env Envelope) Entry {
	e := &DispatchEntry{Envelope: env}
	f := d.fields(&e.Envelope, dispatchFields)
	e.CallID = d.must(f[0])
	e.Target = d.should(f[1])
	e.IdempotencyKey = d.text(f[2])
	return e
}

var decisionFields = []field{
	{name: "call_id"},
	{name: "target"},
	{name: "verdict"},
	{name: "reason"},
	{name: "by"},
	{name: "args"},
}

func (d *Decoder) decisionEntry(env Envelope) Entry {
	e := &DecisionEntry{Envelope: env}
	f := d.fields(&e.Envelope, decisionFields)
	e.CallID = d.must(f[0])
	e.Target = d.should(f[1])
	e.Verdict = d.must(f[2])
	e.Reason = d.text(f[3])
	e.By = d.text(f[4])
	e.Args = d.value(f[5])
	return e
}

var labelFields = []field{{name: "target"}, {name: "label"}}

func (d *Decoder) labelEntry(env Envelope) Entry {
	e := &LabelEntry{Envelope: env}
	f := d.fields(&e.Envelope, labelFields)
	e.Target = d.must(f[0])
	e.Label = d.optionalText(f[1])
	if e.Label == nil && !f[1].null() {
		d.unusable = true // it would clear
	}
	return e
}

var infoFields = []field{{name: "name"}}

func (d *Decoder) infoEntry(env Envelope) Entry {
	e := &InfoEntry{Envelope: env}
	f := d.fields(&e.Envelope, infoFields)
	e.Name = d.text(f[0])
	return e
}

var envFields = []field{{name: "cwd"}, {name: "vcs"}, {name: "files"}, {name: "tools"}, {name: "workspace"}}

func (d *Decoder) envEntry(env Envelope) Entry {
	e := &EnvEntry{Envelope: env}
	f := d.fields(&e.Envelope, envFields)
	e.CWD = d.text(f[0])
	e.VCS = d.vcs(f[1])
	e.Files = d.fileHashes(f[2])
	if d.isObject(f[3]) {
		e.Tools = d.textMap(f[3].raw)
	}
	e.Workspace = d.workspace(f[4])
	return e
}

var outcomeFields = []field{
	{name: "kind"},
	{name: "target"},
	{name: "score"},
	{name: "pass"},
	{name: "label"},
	{name: "details"},
}

func (d *Decoder) outcomeEntry(env Envelope) Entry {
	e := &OutcomeEntry{Envelope: env}
	f := d.fields(&e.Envelope, outcomeFields)
	e.Kind = d.must(f[0])
	e.Target = d.text(f[1])
	e.Score = d.number(f[2])
	e.Pass = d.bool(f[3])
	e.Label = d.text(f[4])
	e.Details = d.value(f[5])
	return e
}

var linkFields = []field{{name: "rel"}, {name: "session"}, {name: "call_id"}, {"target", '"'}}

func (d *Decoder) linkEntry(env Envelope) Entry {
	e := &LinkEntry{Envelope: env}
	f := d.fields(&e.Envelope, linkFields)
	e.Rel = d.must(f[0])
	e.Session = d.must(f[1])
	e.CallID = d.text(f[2])
	e.Target = d.text(f[3])
	return e
}

var customFields = []field{{name: "ns"}, {name: "data"}, {"call_id", '"'}}

func (d *Decoder) customEntry(env Envelope) Entry {
	e := &CustomEntry{Envelope: env}
	f := d.fields(&e.Envelope, customFields)
	e.NS = d.must(f[0])
	e.Data = d.value(f[1])
	e.CallID = d.text(f[2])
	return e
}

var queuedFields = []field{{name: "mode"}, {name: "item"}, {name: "trigger"}, {name: "ref"}}

func (d *Decoder) queuedEntry(env Envelope) Entry {
	e := &QueuedEntry{Envelope: env}
	f := d.fields(&e.Envelope, queuedFields)
	e.Mode = d.should(f[0])
	e.Item = d.lineItem(f[1])
	e.Trigger = d.trigger(f[2])
	e.Ref = d.text(f[3])
	return e
}
