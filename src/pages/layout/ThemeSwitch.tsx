import { HiddenFields } from '../../ui/HiddenFields.tsx'
import { Outline } from '../../ui/Icon.tsx'
import type { Theme } from '../../ui/theme.ts'
import { FRAME_ICONS, type FrameIcon } from './frame-icons.ts'

const CHOICES: { theme: Theme; icon: FrameIcon; label: string }[] = [
  { theme: 'light', icon: 'sun', label: 'Light theme' },
  { theme: 'dark', icon: 'moon', label: 'Dark theme' },
  { theme: 'system', icon: 'monitor', label: 'System theme' },
]

/** Posts `theme` to /theme, which saves it in a cookie and returns to the same page, at the form with this `id`. */
export function ThemeSwitch({ id, theme, csrfToken }: { id?: string; theme: Theme; csrfToken: string | null }) {
  return (
    <form id={id} className="theme" method="post" action="/theme" aria-label="Theme">
      <HiddenFields csrfToken={csrfToken} />
      {CHOICES.map((choice) => (
        <button
          key={choice.theme}
          type="submit"
          name="theme"
          value={choice.theme}
          aria-label={choice.label}
          title={choice.label}
          aria-pressed={choice.theme === theme}
        >
          <Outline path={FRAME_ICONS[choice.icon]} size={15} />
        </button>
      ))}
    </form>
  )
}
