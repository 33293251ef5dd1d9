import { createServer, type Server } from 'node:http'

/** What it says that the instance is: in base64, as machines send it. */
export type Proof = { document: string; signature: string }

/**
 * EC2's instance metadata service, version 2, as far as a machine of ours reads it: a token, the instance's tags, and
 * its identity.
 */
export function metadataService(tags: Record<string, string>, proof: Proof | null = null): Server {
  const tokens = new Set<string>()
  return createServer(({ method, url = '', headers }, response) => {
    const answer = (status: number, text = '') => response.writeHead(status).end(text)
    if (url === '/latest/api/token') {
      const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds'])
      if (method !== 'PUT' || !(seconds >= 1 && seconds <= 21_600)) return answer(400)
      const token = `token-${tokens.size}`
      tokens.add(token)
      return answer(200, token)
    }
    if (!tokens.has(String(headers['x-aws-ec2-metadata-token']))) return answer(401)
    if (proof && url === '/latest/dynamic/instance-identity/document')
      return answer(200, Buffer.from(proof.document, 'base64').toString())
    // In lines, as EC2 writes it.
    if (proof && url === '/latest/dynamic/instance-identity/signature')
      return answer(200, proof.signature.replace(/.{64}/g, '$&\n'))
    const key = decodeURIComponent(url).replace('/latest/meta-data/tags/instance/', '')
    return Object.hasOwn(tags, key) ? answer(200, tags[key]) : answer(404)
  })
}
