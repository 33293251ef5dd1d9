import { monthTotal } from '../../domain/money/billing.ts'
import { dollars } from '../../domain/money/money.ts'

/** The slider for monthly hours: shows what each plan would cost. */
export function mount(box: HTMLElement): void {
  const slider = box.querySelector('input')
  const output = box.querySelector('output')
  if (!slider || !output) return
  const show = () => {
    const hours = slider.valueAsNumber
    output.textContent = `${hours} h`
    slider.ariaValueText = `${hours} hours`
    for (const total of box.querySelectorAll<HTMLElement>('[data-dollars]')) {
      const plan = { dollarsPerMonth: Number(total.dataset.dollars), hours: Number(total.dataset.hours) }
      total.textContent = dollars(monthTotal(plan, hours))
    }
  }
  slider.addEventListener('input', show)
  show()
  box.classList.add('is-live')
}
