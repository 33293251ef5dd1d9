import { Hono } from 'hono'
import { AppError } from '../../../domain/error.ts'
import { isTheme } from '../../../ui/theme.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { writeCookie } from '../../http/cookies.ts'
import { findOwnReferrer } from '../../http/own-path.ts'

/** Stores the chosen theme, so that the server renders it and nothing flashes. */
export const theme = new Hono<AppEnv>().post('/theme', (c) => {
  const chosen = c.var.form?.get('theme')
  if (!isTheme(chosen)) throw new AppError('malformed', 'The theme must be light, dark, or system.')
  writeCookie(c, 'theme', chosen)
  // Back to the page with the form, scrolled to the form.
  return c.redirect(`${findOwnReferrer(c) ?? '/'}#theme`, 303)
})
