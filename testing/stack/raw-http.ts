import { connect, type Socket } from 'node:net'
import { atEnd } from './at-end.ts'
import { listenOn } from './door.ts'

/** A program on the machine that answers each request with these bytes, and keeps what it got. */
export async function rawMachine(machine: string, port: number, answer: (path: string) => string | Buffer) {
  const got: { head: string; body: string }[] = []
  await listenOn(machine, port, (socket: Socket) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const [head = '', ...rest] = text.split('\r\n\r\n')
      const body = rest.join('\r\n\r\n')
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      const isChunked = /^transfer-encoding: *chunked/im.test(head)
      if (!rest.length || (isChunked ? !body.endsWith('0\r\n\r\n') && body !== '0\r\n' : body.length < length)) return
      got.push({ head, body })
      socket.end(answer(head.split(' ')[1] ?? ''))
    })
  })
  return got
}

/** Sends these bytes as they are. @returns every byte of the answer */
export function sendRaw(port: number, request: string | Buffer): Promise<{ head: string; body: Buffer }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    atEnd(() => void socket.destroy())
    const parts: Buffer[] = []
    socket.on('data', (bytes) => parts.push(bytes))
    socket
      .on('error', () => {})
      .on('close', () => {
        const all = Buffer.concat(parts)
        const end = all.indexOf('\r\n\r\n')
        resolve({ head: all.subarray(0, end).toString('latin1'), body: all.subarray(end + 4) })
      })
  })
}
