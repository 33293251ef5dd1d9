import { AppError } from '../../../domain/error.ts'
import { composed } from '../../../domain/person.ts'
import { COMMON_PASSWORD } from '../../../domain/user.ts'
import { COMMON_PASSWORDS } from './common-passwords.ts'

/**
 * Refuses the passwords that attackers try first. The list stays on the server because it is larger than the
 * form.
 * @throws invalid
 */
export function refuseCommonPassword(password: string): void {
  if (COMMON_PASSWORDS.has(composed(password).toLowerCase()))
    throw new AppError('invalid', COMMON_PASSWORD, { field: 'password' })
}
