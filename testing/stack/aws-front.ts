import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The machine image that infra/zone.yaml names, and one that moto knows, as a form has them. */
const [OUR_IMAGE, MOTO_IMAGE] = [
  '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id',
  '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64',
].map(encodeURIComponent) as [string, string]

/** moto knows no previous value of a parameter that has its default: left out of an update, it keeps that. */
function withoutPrevious(body: string): string {
  const form = new URLSearchParams(body)
  if (form.get('Action') !== 'UpdateStack') return body
  const kept = new Map<string, string>()
  for (let n = 1; form.has(`Parameters.member.${n}.ParameterKey`); n++) {
    const of = (field: string) => `Parameters.member.${n}.${field}`
    const value = form.get(of('ParameterValue'))
    if (value !== null) kept.set(form.get(of('ParameterKey')) ?? '', value)
    for (const field of ['ParameterKey', 'ParameterValue', 'UsePreviousValue']) form.delete(of(field))
  }
  for (const [i, [key, value]] of [...kept].entries()) {
    form.set(`Parameters.member.${i + 1}.ParameterKey`, key)
    form.set(`Parameters.member.${i + 1}.ParameterValue`, value)
  }
  return form.toString()
}

/** In front of moto: answers for EC2's quotas and our machine image, which moto lacks, and can fake the time. */
export async function startAwsFront(moto: string) {
  const state = { vcpus: 64, aheadMs: 0, requested: [] as unknown[] }
  const server = createServer((asked, answer) => {
    answer.sendDate = false
    answer.setHeader('Date', new Date(Date.now() + state.aheadMs).toUTCString())
    if (/GetServiceQuota$/.test(String(asked.headers['x-amz-target']))) {
      answer.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' })
      return answer.end(JSON.stringify({ Quota: { QuotaCode: 'L-DB2E81BA', Value: state.vcpus } }))
    }
    const chunks: Buffer[] = []
    asked.on('data', (chunk) => chunks.push(chunk))
    asked.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (/RequestServiceQuotaIncrease$/.test(String(asked.headers['x-amz-target']))) {
        state.requested.push(JSON.parse(body))
        answer.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' })
        return answer.end(JSON.stringify({ RequestedQuota: { Status: 'PENDING' } }))
      }
      const ours = withoutPrevious(body.replaceAll(OUR_IMAGE, MOTO_IMAGE))
      // The same headers, because the signature covers the host.
      const headers = { ...asked.headers, ...(ours !== body && { 'content-length': String(Buffer.byteLength(ours)) }) }
      const passed = request(`${moto}${asked.url}`, { method: asked.method, headers }, (theirs) => {
        const { date: _, ...others } = theirs.headers
        answer.writeHead(theirs.statusCode ?? 502, others)
        theirs.pipe(answer)
      })
      passed.end(ours)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    close: () => server.close(),
  }
}
