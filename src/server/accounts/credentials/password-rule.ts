import { AppError } from '../../../domain/error.ts'
import { composed } from '../../../domain/person.ts'
import { COMMON_PASSWORD } from '../../../domain/user.ts'

/** Our own words, which attackers try here first, with a few digits and signs. docs/security.md has them too. */
const OUR_WORDS = new Set(
  'provingground proving simulate simulation simulator simulators drone drones vehicle vehicles robotics gpuserver'.split(
    ' ',
  ),
)

const MOST_ADDED = 6

/**
 * Refuses the passwords that attackers try first. The list stays on the server because it is larger than the
 * form, and loads on demand because few requests need it.
 * @throws invalid
 */
export async function refuseCommonPassword(password: string): Promise<void> {
  const { COMMON_PASSWORDS } = await import('./common-passwords.ts')
  const written = composed(password).toLowerCase()
  const word = written.replaceAll(/\P{L}/gu, '')
  const isOurs = OUR_WORDS.has(word) && written.length <= word.length + MOST_ADDED
  if (COMMON_PASSWORDS.has(written) || isOurs) throw new AppError('invalid', COMMON_PASSWORD, { field: 'password' })
}
