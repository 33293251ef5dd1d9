import type { Death } from './run-end.ts'
import { SERVER_WEB_PORT } from './server.ts'

/** What these codes mean to the shell, Docker, and signals. */
const EXIT_WORDS: Record<number, string> = {
  0: 'it ended without an error',
  1: 'an error',
  2: 'wrong arguments, usually',
  125: "Docker couldn't start it",
  126: "its command can't be run",
  127: "its command wasn't found",
  130: 'interrupted',
  132: 'an instruction that this CPU lacks',
  134: 'it aborted itself',
  135: 'a memory access that the hardware refused',
  136: 'an arithmetic error, such as division by zero',
  137: 'killed',
  139: 'an invalid memory access',
  143: 'asked to stop',
}

/** `exit code 139 (an invalid memory access)`. */
export function exitText(code: number): string {
  const words = EXIT_WORDS[code]
  return `exit code ${code}${words ? ` (${words})` : ''}`
}

/** Why a server with an image of its user's own didn't start, and what they can do. */
export function deathText(death: Death, image: string | null, exitCode: number | null): string {
  const name = image ?? 'your image'
  switch (death) {
    case 'exited': {
      const how = exitCode === null ? '' : ` with ${exitText(exitCode)}`
      return `Your program ended${how} before it answered on port ${SERVER_WEB_PORT}. We tried three times. Its log shows the last thing it said.`
    }
    case 'out_of_memory':
      return 'Your program needed more memory than the machine has, so it was killed. Make it use less, or choose a larger machine.'
    case 'no_space':
      return `${name} doesn't fit on the machine's disk. Make the image smaller.`
    case 'secret_missing':
      return 'A secret of this start was gone before your program ran, so we stopped it. Its log names the secret. Save it again, or start without it.'
    case 'bad_image':
      return `The machine can't run ${name}. Check that it is built for linux/amd64 and has a command to start.`
    case 'image_not_found':
      return `Your server couldn't pull ${name}. Check that this image exists, and that it is public or you saved a login for its registry.`
    case 'image_denied':
      return `The registry wouldn't let your server pull ${name}. Make the image public, or save a registry login that may read it.`
    case 'image_login_refused':
      return `The registry of ${name} refused your login. Check its username, and save it again with a new token.`
    case 'image_login_expired':
      return `Your login for the registry of ${name} has expired. Make a new token there, and save the login again.`
    case 'image_host_private':
      return `The registry of ${name} has a private address, so your server didn't send your login there. Push the image to a registry on the public Internet.`
    case 'image_rate_limited':
      return `The registry limits how often ${name} can be pulled. Save a login for it, try again later, or push the image to another registry.`
    case 'image_stuck':
      return `The registry stopped sending ${name}. Please try again, or push it to another registry.`
    case 'image_slow':
      return `The registry sends ${name} too slowly. Make the image smaller, or push it to a faster registry.`
  }
}
