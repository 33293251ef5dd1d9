import type { Account } from './account.ts'
import type { Price, Product } from './objects.ts'

const PRICES = [
  {
    id: 'price_basic_monthly',
    lookupKey: 'proving_ground_basic_monthly',
    product: 'Proving Ground Basic',
    cents: 2500,
  },
  {
    id: 'price_premium_monthly',
    lookupKey: 'proving_ground_premium_monthly',
    product: 'Proving Ground Premium',
    cents: 25_000,
  },
]

/** Merchants create prices in the dashboard, not the API, so we seed them. */
export function seedPrices(account: Account): void {
  for (const seed of PRICES) {
    if (account.store.get('prices', seed.id)) continue
    const product: Product = {
      id: seed.id.replace('price', 'prod'),
      object: 'product',
      created: account.now(),
      livemode: false,
      active: true,
      name: seed.product,
    }
    const price: Price = {
      id: seed.id,
      object: 'price',
      created: account.now(),
      livemode: false,
      active: true,
      currency: 'usd',
      lookup_key: seed.lookupKey,
      metadata: {},
      product: product.id,
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
      type: 'recurring',
      unit_amount: seed.cents,
    }
    account.store.put('products', product.id, product)
    account.store.put('prices', price.id, price)
  }
}
