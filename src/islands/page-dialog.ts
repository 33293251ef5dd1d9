import { addCopyButtons } from './copy-buttons.ts'
import { showLocalTimes } from './local-times.ts'
import { isForOther, leaveToOther } from './request.ts'

type Page = { title: string; content: Element }

/**
 * Shows the part of another page that is marked with `data-dialog` over this one, until it is closed. Its forms'
 * answers appear there as well. If that fails, for example because the sign-in has ended, the browser opens that page.
 */
export async function showPage(address: string): Promise<void> {
  const asker = document.activeElement as HTMLElement
  const first = await read(address)
  if (!first) return location.assign(address)
  const dialog = document.createElement('dialog')
  dialog.className = 'card ask'
  dialog.setAttribute('aria-labelledby', 'page-dialog')
  dialog.innerHTML =
    '<h2 id="page-dialog" tabindex="-1"></h2><div class="stack"></div><form method="dialog" class="row"><button class="btn">Close</button></form>'
  const [title, content] = [dialog.querySelector('h2'), dialog.querySelector('div')]
  if (!title || !content) return
  const fill = (page: Page) => {
    title.textContent = page.title
    content.replaceChildren(...page.content.childNodes)
    showLocalTimes(content)
    addCopyButtons(content)
  }
  dialog.addEventListener('submit', async (event) => {
    const form = event.target as HTMLFormElement
    if (form.method === 'dialog') return
    event.preventDefault()
    // Only the first of two clicks counts: nobody would ever see the second link.
    if (dialog.ariaBusy) return
    dialog.ariaBusy = 'true'
    const body = new URLSearchParams(new FormData(form) as never)
    const next = await read(form.action, { method: 'POST', body })
    if (!next) return location.assign(address)
    dialog.ariaBusy = null
    fill(next)
    // A message takes the focus; the button that had it is gone.
    ;(content.querySelector<HTMLElement>('[autofocus]') ?? title).focus()
  })
  // Chromium forgets Escape once a message, which is an open dialog, was added inside this one.
  dialog.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') dialog.close()
  })
  fill(first)
  document.body.append(dialog)
  // The browser returns the focus to what has it now, which may have changed since.
  asker.focus()
  dialog.showModal()
  await new Promise((closed) => {
    dialog.addEventListener('close', (event) => event.target === dialog && closed(null))
  })
  dialog.remove()
}

async function read(address: string, form?: RequestInit): Promise<Page | null> {
  const answer = await fetch(address, form).catch(() => null)
  if (answer && isForOther(answer)) return leaveToOther()
  if (!answer?.ok) return null
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const content = page.querySelector('[data-dialog]')
  return content && { title: page.querySelector('h1')?.textContent ?? '', content }
}
