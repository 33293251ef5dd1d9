import { colorMedia, THEME_COLORS, type Theme } from '../ui/theme.ts'

/**
 * Changes the theme in place, so typed text and the scroll position stay. Without this script the form posts and the
 * page reloads in its new theme. If the server does not save a choice, undo it, unless another one followed.
 */
addEventListener('submit', async (event) => {
  const form = event.target as HTMLFormElement
  const pressed = event.submitter as HTMLButtonElement | null
  if (!pressed || !form.matches('.theme')) return
  event.preventDefault()
  const before = document.documentElement.dataset.theme as Theme
  show(pressed.value as Theme)
  const body = new URLSearchParams(new FormData(form, pressed) as unknown as Record<string, string>)
  const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true }).catch(
    () => null,
  )
  const { theme } = document.documentElement.dataset
  if (answer?.type !== 'opaqueredirect' && theme === pressed.value) show(before)
})

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  for (const button of document.querySelectorAll<HTMLButtonElement>('.theme button'))
    button.ariaPressed = String(button.value === theme)
  document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]').forEach((meta, i) => {
    meta.media = colorMedia((THEME_COLORS[i] as { of: Theme }).of, theme)
  })
  document.dispatchEvent(new Event('themechange'))
}
