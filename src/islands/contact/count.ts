import { watchEdits } from '../edits.ts'

/** Updates `N/2000` as you type; `data-for` names the field. Screen readers hear it only after a pause. */
export function mount(counter: HTMLElement): void {
  const field = document.getElementById(counter.dataset.for ?? '')
  const limit = Number(counter.dataset.limit)
  const spoken = document.getElementById('live')
  if (!(field instanceof HTMLTextAreaElement)) return
  if (field.form) field.form.addEventListener('submit', watchEdits(field.form).settle)
  let rest: ReturnType<typeof setTimeout> | undefined
  const show = () => {
    const length = [...field.value].length
    const text = `${length}/${limit}`
    counter.textContent = text
    counter.classList.toggle('error', length > limit)
    clearTimeout(rest)
    rest = setTimeout(() => {
      if (spoken) spoken.textContent = `${text} characters`
    }, 1500)
  }
  field.addEventListener('input', show)
  if (field.value.length > 0) show()
}
