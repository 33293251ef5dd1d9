import type { Server } from 'node:http'
import type { CheckoutSession, Invoice } from './objects.ts'
import type { Store } from './store.ts'

/**
 * Listens on the port of the last time, so that the addresses of hosted pages that were handed out still lead somewhere; when
 * that port is taken, on a free one, and what is kept here is moved there.
 * @returns the server's address
 */
export async function listenWhereBefore(server: Server, store: Store, wanted?: number): Promise<string> {
  // A client must not keep a connection that a restart on the same port has silently ended.
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  const before = store.get<{ port: number }>('settings', 'address')?.port
  await listen(server, wanted ?? before ?? 0).catch((error: NodeJS.ErrnoException) => {
    if (wanted !== undefined || error.code !== 'EADDRINUSE') throw error
    return listen(server, 0)
  })
  const { port } = server.address() as { port: number }
  if (before !== undefined && before !== port) moveHostedPages(store, address(before), address(port))
  store.put('settings', 'address', { port })
  store.commit()
  return address(port)
}

function address(port: number): string {
  return `http://127.0.0.1:${port}`
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function moveHostedPages(store: Store, from: string, to: string): void {
  const moved = (url: string | null) => url?.replace(from, to) ?? null
  for (const invoice of store.all<Invoice>('invoices'))
    store.put('invoices', invoice.id, {
      ...invoice,
      hosted_invoice_url: moved(invoice.hosted_invoice_url),
      invoice_pdf: moved(invoice.invoice_pdf),
    })
  for (const session of store.all<CheckoutSession>('checkout_sessions'))
    store.put('checkout_sessions', session.id, { ...session, url: moved(session.url) })
}
