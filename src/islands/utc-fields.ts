import { MINUTE_MS, toIso } from '../domain/instant.ts'

const minuteOf = (ms: number) => toIso(ms).slice(0, 16)

/** `2026-11-28T09:00` in UTC, as the reader's clock shows it. */
function toLocal(utc: string): string {
  const at = Date.parse(`${utc}Z`)
  return minuteOf(at - new Date(at).getTimezoneOffset() * MINUTE_MS)
}

/** Fields that pages fill in and servers read in UTC. People see and type their own time. */
for (const field of document.querySelectorAll<HTMLInputElement>('input[data-utc]')) {
  if (field.value) field.value = toLocal(field.value)
  const label = field.labels?.[0]
  if (label) label.textContent = label.textContent.replace('(UTC)', '(your time)')
  field.form?.addEventListener('formdata', ({ formData }) => {
    if (field.value) formData.set(field.name, minuteOf(Date.parse(field.value)))
  })
}
