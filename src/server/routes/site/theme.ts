import { AppError } from '../../../domain/error.ts'
import { isTheme } from '../../../ui/theme.ts'
import { writeCookie } from '../../http/cookies.ts'
import { findOwnReferrer } from '../../http/own-path.ts'
import { route } from '../../http/route.ts'

/** Stores the chosen theme, so that the server renders it and nothing flashes. */
export const theme = [
  // Its form is on pages that are the same for everyone and hold no token. It only changes colors.
  route('POST /theme', { access: 'public', token: 'never' }).answer((c) => {
    const chosen = c.var.form?.get('theme')
    if (!isTheme(chosen)) throw new AppError('malformed', 'The theme must be light, dark, or system.')
    writeCookie(c, 'theme', chosen)
    // Back to the page with the form, scrolled to the form.
    return c.redirect(`${findOwnReferrer(c) ?? '/'}#theme`, 303)
  }),
]
