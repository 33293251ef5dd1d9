/** The same for the same content, so that whoever writes a record twice, or at once with another, writes one. */
export async function recordId(content: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content))
  const text = btoa(String.fromCharCode(...new Uint8Array(digest, 0, 15)))
  return `bill_${text.replaceAll('+', '-').replaceAll('/', '_')}`
}
