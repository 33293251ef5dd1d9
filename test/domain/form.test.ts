import * as v from 'valibot'
import { expect, test } from 'vitest'
import { checkForm } from '../../src/domain/form.ts'

const schema = v.pipe(
  v.object({ first: v.string(), second: v.string() }),
  v.check((f) => f.first !== '' || f.second !== '', 'Fill it in.'),
  v.forward(
    v.check((f) => f.first !== '', 'First!'),
    ['first'],
  ),
  v.forward(
    v.check((f) => f.second !== '', 'Second!'),
    ['second'],
  ),
  v.transform((f) => f.first + f.second),
)

test('a form yields its value, or the first rule it breaks, or all of them', () => {
  expect(checkForm(schema, { first: 'a', second: 'b' })).toEqual({ ok: true, value: 'ab' })
  const first = { field: null, message: 'Fill it in.' }
  expect(checkForm(schema, { first: '', second: '' })).toEqual({ ok: false, faults: [first] })
  expect(checkForm(schema, { first: 'a', second: '' }, {})).toEqual({
    ok: false,
    faults: [{ field: 'second', message: 'Second!' }],
  })
  expect(checkForm(schema, { first: '', second: '' }, { every: true })).toEqual({
    ok: false,
    faults: [first, { field: 'first', message: 'First!' }, { field: 'second', message: 'Second!' }],
  })
})
