import * as v from 'valibot'
import { rule } from './form.ts'
import { bytesOf, nameFault } from './parameters.ts'
import { MOST_SECRETS } from './run-wishes.ts'
import { CURRENT_PASSWORD_REQUIRED } from './user.ts'

/** Values that an account keeps for its own images. Nobody can read them back: only a container that names one gets it. */

const MOST_BYTES = 8_192

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const SECRET_SAVED = 'Secret saved.'
export const SECRET_REMOVED = 'Secret removed.'
export const TOO_MANY_SECRETS = `You have ${MOST_SECRETS} secrets, the most an account can have. Remove one first.`
// Stryker restore StringLiteral

export const secretForm = v.pipe(
  v.object({ name: v.string(), value: v.string(), current_password: v.string() }),
  rule('name', (f) => f.name !== '', 'Please enter a name.'),
  rule(
    'name',
    (f) => nameFault(f.name, 'secret') === null,
    (f) => nameFault(f.name, 'secret') ?? '',
  ),
  rule('value', (f) => f.value !== '', 'Please enter a value.'),
  rule('value', (f) => bytesOf(f.value) <= MOST_BYTES, 'The value cannot exceed 8,192 bytes.'),
  rule('value', (f) => !f.value.includes('\0') && f.value.isWellFormed(), 'The value must be text without a NUL.'),
  rule('current_password', (f) => f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
)
