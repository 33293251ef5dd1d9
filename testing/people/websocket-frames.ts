import { randomBytes } from 'node:crypto'

const OPCODES = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const
export type Opcode = keyof typeof OPCODES
export type Frame = { opcode: Opcode; payload: Buffer }

/** One frame as a client writes it (RFC 6455): masked, up to 64 KiB. */
export function frame(opcode: Opcode, payload: string | Buffer, { fin = true } = {}): Buffer {
  const body = Buffer.from(payload as string)
  const mask = randomBytes(4)
  const length = body.length < 126 ? [0x80 | body.length] : [0x80 | 126, body.length >> 8, body.length & 0xff]
  const masked = body.map((byte, i) => byte ^ (mask[i % 4] as number))
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | OPCODES[opcode], ...length]), mask, masked])
}

/** The complete frames in what a server sent. A server's frames are not masked. */
export function parseFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes.readUInt8(at + 1) & 0x7f
    const start = at + (short === 127 ? 10 : short === 126 ? 4 : 2)
    if (start > bytes.length) break
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short
    if (start + length > bytes.length) break
    const code = bytes.readUInt8(at) & 0x0f
    const opcode = (Object.keys(OPCODES) as Opcode[]).find((name) => OPCODES[name] === code)
    if (!opcode) throw new Error(`A frame of kind ${code}`)
    frames.push({ opcode, payload: bytes.subarray(start, start + length) })
    at = start + length
  }
  return frames
}
