module github.com/sessionspan/sessionspan/store/sqlite

go 1.26.0

require (
	github.com/sessionspan/sessionspan v0.0.0-00010101000000-000000000000
	modernc.org/sqlite v1.62.0
)

replace github.com/sessionspan/sessionspan => ../..
