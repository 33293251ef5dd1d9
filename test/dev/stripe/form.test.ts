import { expect, test } from 'vitest'
import { parseForm } from '../../../dev/stripe/form.ts'

test('parses brackets into objects and lists', () => {
  expect(
    parseForm('a=1&metadata[user_id]=u&line_items[0][price]=p&line_items[0][quantity]=2&line_items[1][price]=q'),
  ).toEqual({
    a: '1',
    metadata: { user_id: 'u' },
    line_items: [{ price: 'p', quantity: '2' }, { price: 'q' }],
  })
  expect(parseForm('lookup_keys[0]=x&lookup_keys[1]=y&expand[]=z')).toEqual({ lookup_keys: ['x', 'y'], expand: ['z'] })
  expect(parseForm('subscription_data[metadata][plan_type]=basic')).toEqual({
    subscription_data: { metadata: { plan_type: 'basic' } },
  })
})

test('ignores names that would pollute prototypes', () => {
  parseForm('__proto__[polluted]=1&a[__proto__][polluted]=1')
  expect('polluted' in {}).toBe(false)
})
