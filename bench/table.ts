/** One line of the table. `ok` is null for a row without a budget, which only informs. */
export type Row = { what: string; measured: string; budget: string; ok: boolean | null }

export function atMost(what: string, value: number, budget: number, unit: string, digits = 1): Row {
  const ok = value <= budget
  // Rounded, a little too much would look like enough.
  return { what, measured: amount(value, unit, ok ? digits : 3), budget: `≤ ${budget} ${unit}`, ok }
}

export function atLeast(what: string, value: number, budget: number, unit: string): Row {
  return { what, measured: amount(value, unit, 2), budget: `≥ ${budget} ${unit}`, ok: value >= budget }
}

export function told(what: string, measured: string): Row {
  return { what, measured, budget: '', ok: null }
}

export function amount(value: number, unit: string, digits = 1): string {
  return `${Number(value.toFixed(digits))} ${unit}`
}

export function printTable(title: string, rows: Row[]): void {
  const lines = rows.map(({ what, measured, budget, ok }) => [
    what,
    measured,
    budget,
    ok === null ? '' : ok ? 'ok' : 'NO',
  ])
  const table = [['', 'measured', 'budget', ''], ...lines]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((line) => (line[column] ?? '').length)))
  const print = (line: string[]) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = table
  console.log(`\n### ${title}\n\n${print(head)}\n${print(widths.map((width) => '-'.repeat(width)))}`)
  for (const line of body) console.log(print(line))
  if (rows.some(({ ok }) => ok === false)) process.exitCode = 1
}
