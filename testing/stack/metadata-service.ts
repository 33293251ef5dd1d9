import { createServer, type Server } from 'node:http'

/** EC2's instance metadata service, version 2, as far as a machine of ours reads it: a token, and the instance's tags. */
export function metadataService(tags: Record<string, string>): Server {
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
    const key = decodeURIComponent(url).replace('/latest/meta-data/tags/instance/', '')
    return Object.hasOwn(tags, key) ? answer(200, tags[key]) : answer(404)
  })
}
