import { formatUptime } from '../../domain/server.ts'
import { FORM } from './ByForm.tsx'

const NAME = 'stop_after'
export const END_HOURS = [1, 2, 4, 8]

/** When the next start ends its server: in seconds, or empty for never. */
export function chosenEnd(): { stop_after?: number } {
  const seconds = Number(document.querySelector<HTMLSelectElement>(`select[name=${NAME}]`)?.value)
  return seconds ? { stop_after: seconds } : {}
}

/** @param last what they chose last, in seconds; null: no end */
export function EndChoice({ last }: { last: number | null }) {
  const choices = [...new Set([...END_HOURS.map((hours) => hours * 3600), ...(last ? [last] : [])])].sort(
    (a, b) => a - b,
  )
  return (
    <label className="choice">
      Stop after
      <select className="input" name={NAME} form={FORM} defaultValue={last ?? ''}>
        {choices.map((seconds) => (
          <option key={seconds} value={seconds}>
            {textOf(seconds)}
          </option>
        ))}
        <option value="">Until I stop it</option>
      </select>
    </label>
  )
}

/** `4 h`, or what they set with the API: `1h 30m` */
function textOf(seconds: number): string {
  return seconds % 3600 ? formatUptime(seconds).replace(/ 0s$/, '') : `${seconds / 3600} h`
}
