import { AppError } from '../../../domain/error.ts'
import { composed } from '../../../domain/person.ts'
import { COMMON_PASSWORD } from '../../../domain/user.ts'

/**
 * Refuses the passwords that attackers try first. The list stays on the server because it is larger than the
 * form, and loads on demand because few requests need it.
 * @throws invalid
 */
export async function refuseCommonPassword(password: string): Promise<void> {
  const { COMMON_PASSWORDS } = await import('./common-passwords.ts')
  if (COMMON_PASSWORDS.has(composed(password).toLowerCase()))
    throw new AppError('invalid', COMMON_PASSWORD, { field: 'password' })
}
