import { isOwnMachine } from '../src/domain/own-machine.ts'
import type { StackOptions } from './services.ts'

/**
 * Why the stack must not use these servers; null if it may. It creates test users whose password everyone knows, moves
 * the clock, and runs the triggers, so a server that isn't on this machine may be someone's production.
 */
export function faultOfServers(
  options: Pick<StackOptions, 'libsqlUrl' | 'ec2Endpoint' | 'stripeApiBase'>,
): string | null {
  const named = {
    LIBSQL_URL: options.libsqlUrl,
    EC2_ENDPOINT: options.ec2Endpoint,
    STRIPE_API_BASE: options.stripeApiBase,
  }
  for (const [name, address] of Object.entries(named))
    if (address !== undefined && !(URL.canParse(address) && isOwnMachine(new URL(address))))
      return `${name} leads away from this machine. The local stack writes test users and runs all triggers there, so it takes only http://localhost, http://127.0.0.1, and http://[::1]. Run "unset ${name}", or choose a server here.`
  return null
}
