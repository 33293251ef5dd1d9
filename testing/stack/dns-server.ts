import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'

const TYPES: Record<number, string> = { 1: 'A', 16: 'TXT' }

/** A name server on loopback. `records` maps `TXT example.com` to a text, and `A example.com` to an address. */
export async function startDnsServer(records: () => Record<string, string>) {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => socket.send(answer(query, records()), from.port, from.address))
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done))
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, close: () => socket.close() }
}

/** RFC 1035: the header, the question again, and at most one record. */
function answer(query: Buffer, records: Record<string, string>): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const end = at + 5
  const name = labels.join('.').toLowerCase()
  const found = records[`${TYPES[query.readUInt16BE(at + 1)]} ${name}`]
  const exists = Object.keys(records).some((key) => ` ${key.split(' ')[1]}`.replace(' ', '.').endsWith(`.${name}`))
  const type = query.subarray(at + 1, at + 3)
  const data =
    type[1] === 1
      ? Buffer.from((found ?? '').split('.').map(Number))
      : Buffer.from(`${String.fromCharCode(found?.length ?? 0)}${found}`)
  const header = Buffer.from(query.subarray(0, 12))
  // An answer; NXDOMAIN if there is no such name. One question, without the query's additional records.
  header.writeUInt16BE(exists ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(found === undefined ? 0 : 1, 6)
  header.fill(0, 8, 12)
  const question = query.subarray(12, end)
  if (found === undefined) return Buffer.concat([header, question])
  const record = Buffer.concat([Buffer.from([0xc0, 12]), type, Buffer.from([0, 1, 0, 0, 0, 60, 0, data.length]), data])
  return Buffer.concat([header, question, record])
}
