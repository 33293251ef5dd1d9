/** An opaque id with a readable prefix: `srv_` and 120 random bits. */
export function newId(
  prefix: 'user' | 'srv' | 'ses' | 'job' | 'bill' | 'in' | 'chk' | 'sub' | 'mail' | 'msg' | 'req' | 'launch',
): string {
  const bytes = crypto.getRandomValues(new Uint8Array(15))
  return `${prefix}_${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')}`
}
