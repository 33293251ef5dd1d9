import { isOwnMachine } from '../../domain/own-machine.ts'
import type { PostWebhook, WebhookAnswer } from '../ports/webhooks.ts'
import { isPublicAddress, resolveHost } from './public-address.ts'

/** For the whole try: DNS, connection, answer. */
const TIMEOUT_MS = 10_000
const KEPT_BYTES = 500

/**
 * Posts to hosts on the public internet only. We resolve the name before each try. If it changes between the check and
 * the connection, Cloudflare's network still can't reach a private address.
 * @param local allows this machine's own addresses
 */
export function publicPost(local: boolean, fetcher: typeof fetch = (...args) => fetch(...args)): PostWebhook {
  return async (url, headers, body) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const target = new URL(url)
    try {
      if (!(local && isOwnMachine(target))) {
        const fault = await addressFault(fetcher, target.hostname, signal)
        if (fault) return unanswered(fault)
      }
      const response = await fetcher(url, { method: 'POST', headers, body, redirect: 'manual', signal })
      const { status } = response
      const text = await beginningOf(response)
      if (status >= 300 && status < 400)
        return { taken: false, status, text: "We don't follow redirects. Enter the URL that it points to." }
      return { taken: response.ok, status, text }
    } catch {
      return unanswered(
        signal.aborted
          ? 'No answer within 10 seconds.'
          : "We couldn't connect. Check the host's DNS record, its certificate, and that it accepts HTTPS on port 443.",
      )
    }
  }
}

function unanswered(text: string): WebhookAnswer {
  return { taken: false, status: null, text }
}

async function addressFault(fetcher: typeof fetch, host: string, signal: AbortSignal): Promise<string | null> {
  const addresses = await resolveHost(fetcher, host, signal).catch(() => null)
  if (addresses === null) return "DNS didn't answer, so we don't know where this host is."
  if (addresses.length === 0) return 'DNS has no address for this host.'
  return addresses.every(isPublicAddress) ? null : "This host has an address that isn't on the public Internet."
}

/** Reads no further: an answer may never end. The status decides, so an answer that breaks off still counts. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const parts: Uint8Array[] = []
  let length = 0
  try {
    while (length < KEPT_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      length += value.length
    }
  } catch {}
  await reader.cancel().catch(() => {})
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, KEPT_BYTES))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we remove
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
