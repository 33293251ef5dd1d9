import { createServer } from 'node:net'
import { WebSocket } from 'ws'

/** `node plain-relay.ts <port> <address>`: carries each connection in a WebSocket's frames, without windows. */
const [, , port, address = ''] = process.argv
createServer({ noDelay: true, pauseOnConnect: true }, (local) => {
  const socket = new WebSocket(address, { perMessageDeflate: false })
  socket.on('open', () => local.on('data', (bytes) => socket.send(bytes)).resume())
  socket.on('message', (data: Buffer) => local.write(data))
  socket.on('close', () => local.destroySoon()).on('error', () => local.destroy())
  local.on('close', () => socket.terminate()).on('error', () => {})
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))
