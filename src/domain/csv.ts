/**
 * Begins a file that people download and open: without it, Excel shows "Müller" as "MÃ¼ller". The command line doesn't
 * write it, because programs would take it for part of the first column's name.
 */
export const BYTE_ORDER_MARK = '\ufeff'

/** A leading sign, also a full-width one, makes a spreadsheet run a cell as a formula. */
const IS_FORMULA = /^[=+\-@＝＋－＠\t\r]/

/** One line of a CSV file (RFC 4180), every cell quoted. */
export function csvLine(cells: string[]): string {
  const quoted = cells.map((text) => `"${(IS_FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`)
  return `${quoted.join(',')}\r\n`
}
