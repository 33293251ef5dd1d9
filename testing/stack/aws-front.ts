import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** In front of moto: answers for EC2's quotas, which moto lacks, and can fake the time. */
export async function startAwsFront(moto: string) {
  const state = { vcpus: 64, aheadMs: 0 }
  const server = createServer((asked, answer) => {
    answer.sendDate = false
    answer.setHeader('Date', new Date(Date.now() + state.aheadMs).toUTCString())
    if (/GetServiceQuota$/.test(String(asked.headers['x-amz-target']))) {
      answer.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' })
      return answer.end(JSON.stringify({ Quota: { QuotaCode: 'L-DB2E81BA', Value: state.vcpus } }))
    }
    // The same headers, because the signature covers the host.
    const passed = request(`${moto}${asked.url}`, { method: asked.method, headers: asked.headers }, (theirs) => {
      const { date: _, ...headers } = theirs.headers
      answer.writeHead(theirs.statusCode ?? 502, headers)
      theirs.pipe(answer)
    })
    asked.pipe(passed)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    close: () => server.close(),
  }
}
