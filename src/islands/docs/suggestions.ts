import { type Hit, openIndex } from '../../domain/docs-search.ts'
import styles from './suggestions.css?inline'

const MOST = 8

/** Turns the field into a combobox (https://www.w3.org/WAI/ARIA/apg/patterns/combobox/): the focus stays in it. */
export async function suggest(form: HTMLFormElement, field: HTMLInputElement): Promise<void> {
  const search = openIndex(await (await fetch('/texts/docs-search.txt')).text())
  const live = document.getElementById('live')
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  document.adoptedStyleSheets.push(sheet)
  const list = document.createElement('div')
  Object.assign(list, {
    id: 'suggestions',
    className: 'suggestions',
    role: 'listbox',
    ariaLabel: 'Suggestions',
    hidden: true,
  })
  form.append(list)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
  }))
    field.setAttribute(name, value)

  let chosen = -1
  const choose = (to: number) => {
    chosen = to
    for (const [i, option] of [...list.children].entries()) option.ariaSelected = String(i === to)
    const option = list.children[to]
    option?.scrollIntoView({ block: 'nearest' })
    if (option) field.setAttribute('aria-activedescendant', option.id)
    else field.removeAttribute('aria-activedescendant')
  }
  const open = (shown: boolean) => {
    list.hidden = !shown
    field.ariaExpanded = String(shown)
    if (!shown) choose(-1)
  }
  const show = () => {
    const hits = search(field.value).slice(0, MOST)
    list.replaceChildren(...hits.map(toOption))
    open(hits.length > 0)
    if (!live) return
    live.textContent = !field.value.trim()
      ? ''
      : hits.length === 1
        ? '1 suggestion'
        : `${hits.length || 'No'} suggestions`
  }

  field.addEventListener('input', show)
  field.addEventListener('focus', show)
  field.addEventListener('blur', () => open(false))
  // The focus stays in the field, so that a click reaches the option.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', () => field.blur())
  field.addEventListener('keydown', (event) => {
    const count = list.hidden ? 0 : list.children.length
    if (event.isComposing) return
    if (event.key === 'Escape') {
      if (list.hidden) field.value = ''
      open(false)
    } else if (count && event.key === 'Enter' && chosen >= 0) (list.children[chosen] as HTMLElement).click()
    else if (event.key === 'ArrowDown' && !count) return show()
    else if (count && event.key === 'ArrowDown') choose((chosen + 1) % count)
    else if (count && event.key === 'ArrowUp') choose((chosen < 1 ? count : chosen) - 1)
    else return
    event.preventDefault()
  })
  open(false)
  if (document.activeElement === field && field.value) show()
}

function toOption({ address, page, title, excerpt: [before, word, after] }: Hit, i: number): HTMLElement {
  const option = document.createElement('a')
  Object.assign(option, { id: `suggestion-${i}`, href: address, role: 'option', tabIndex: -1 })
  const part = (tag: string, ...texts: (string | Node)[]) => {
    const element = document.createElement(tag)
    element.append(...texts)
    return element
  }
  option.append(part('strong', title), part('span', page), part('span', before, part('b', word), after))
  return option
}
