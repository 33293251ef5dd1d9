import { spawnSync } from 'node:child_process'

/** What AWS's command line answers, signed in as the operator. @throws what failed, and what to do */
export function aws(region: string, ...words: string[]): string {
  const { status, error, stdout, stderr } = spawnSync('aws', [...words, '--region', region], { encoding: 'utf8' })
  if (status === 0) return stdout.trim()
  const command = `aws ${words.slice(0, 2).join(' ')}`
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    throw new Error("AWS's command line isn't here. Install it: https://aws.amazon.com/cli/")
  const said = (error?.message ?? stderr).trim().replace(/\s+/g, ' ').slice(-400)
  throw new Error(`"${command}" failed (${said}). ${remedy(said)}`)
}

function remedy(said: string): string {
  if (/locate credentials|ExpiredToken|InvalidClientTokenId|SSO|token has expired|security token/i.test(said))
    return 'Sign in as an administrator of the account: "aws configure" or "aws sso login".'
  if (/AccessDenied|UnauthorizedOperation|not authorized/.test(said))
    return 'Sign in as an administrator of the account.'
  if (/Could not connect|resolve/.test(said)) return "Check AWS_REGION, and this machine's network."
  return 'Nothing after it was done. You can run it again.'
}
