import { AppError } from '../../../domain/error.ts'
import { composed } from '../../../domain/person.ts'
import { COMMON_PASSWORD } from '../../../domain/user.ts'
import { COMMON_PASSWORDS } from './common-passwords.ts'

/** What everybody tries first is no password. The list stays on the server: it weighs more than the form. @throws invalid */
export function refuseCommonPassword(password: string): void {
  if (COMMON_PASSWORDS.has(composed(password).toLowerCase()))
    throw new AppError('invalid', COMMON_PASSWORD, { field: 'password' })
}
