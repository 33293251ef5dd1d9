import { colorMedia, THEME_COLORS, type Theme } from '../ui/theme.ts'

/**
 * The theme changes where one stands: what was typed stays, and so does the place that the page was scrolled to. Without this the form is
 * posted, and the page comes back in its new theme. A choice that the server did not keep is not shown, unless another followed it.
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
