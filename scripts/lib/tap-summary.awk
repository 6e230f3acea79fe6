# SPDX-License-Identifier: BSD-2-Clause
# Adds up kept TAP files: one line for each failure and skip, then one line
# "P F S" with the counts. The files alternate: FILE.rc ("exit-status ms"),
# FILE.tap. A program that ends badly without having said "not ok" is a failure
# of its own.

function flush_file()
{
	if (file == "" || whole)
		return
	if (plan < 0)
		bad("printed no plan")
	else if (plan != seen)
		bad("planned " plan " tests but ran " seen)
	else if (rc != 0 && !nfail_file)
		bad("ended with exit status " rc)
}

function bad(why)
{
	failed++
	nfail_file++
	print "FAIL\t" file ": " why
}

function directive(line,	at)
{
	at = match(line, /# *[Ss][Kk][Ii][Pp]/)
	if (!at)
		return 0
	reason = substr(line, RSTART + RLENGTH)
	sub(/^[^ ]* */, "", reason)
	return 1
}

function test_name(line)
{
	sub(/^(not )?ok *[0-9]* *(- *)?/, "", line)
	sub(/ *# *[Ss][Kk][Ii][Pp].*/, "", line)
	return line
}

FILENAME ~ /\.rc$/ && FNR == 1 {
	flush_file()
	rc = $1
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.rc$/, "", file)
	gsub(/:/, "/", file)
	plan = -1
	seen = nfail_file = whole = 0
	notes = ""
	next
}

/^1\.\.[0-9]+/ {
	plan = substr($1, 4) + 0
	if (plan == 0 && directive($0)) {
		whole = 1
		skipped++
		print "SKIP\t" file ": " reason
	}
	next
}

/^ok/ {
	seen++
	if (directive($0)) {
		skipped++
		print "SKIP\t" file ": " test_name($0) ": " reason
	} else {
		passed++
	}
	notes = ""
	next
}

/^not ok/ {
	seen++
	bad(test_name($0))
	printf "%s", notes
	notes = ""
	next
}

/^Bail out!/ { bad($0) }

/^#/ { notes = notes "\t\t" $0 "\n" }

END {
	flush_file()
	print passed + 0, failed + 0, skipped + 0
}
