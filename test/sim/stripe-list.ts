/** All objects of a Stripe list. */
export async function listAtStripe<T>(apiBase: string, path: string): Promise<(T & { id: string })[]> {
  const found: (T & { id: string })[] = []
  for (let after = ''; ; ) {
    const response = await fetch(`${apiBase}/v1/${path}&limit=100${after}`, { headers: { authorization: 'Bearer sk' } })
    const page = (await response.json()) as { data: (T & { id: string })[]; has_more: boolean }
    found.push(...page.data)
    if (!page.has_more) return found
    after = `&starting_after=${page.data.at(-1)?.id}`
  }
}

/** What Stripe invoiced for each record, in cents. */
export async function invoicedAtStripe(apiBase: string): Promise<Map<string, number[]>> {
  const sent = await listAtStripe<{ total: number; metadata: { record_id?: string } }>(
    apiBase,
    'invoices?collection_method=send_invoice',
  )
  const byRecord = Map.groupBy(sent, ({ metadata }) => metadata.record_id ?? '')
  return new Map([...byRecord].map(([id, list]) => [id, list.map(({ total }) => total)]))
}
