import { expect, test } from 'vitest'
import { nestFields } from '../../../src/server/http/form-post.ts'

const nest = (form: string) => JSON.parse(JSON.stringify(nestFields(new URLSearchParams(form))))

test('groups fields; of a repeated field, the last counts', () => {
  expect(nest('user[name]=Ada&a=b&user[email]=x&user[name]=Eve&other[name]=y')).toEqual({
    user: { name: 'Eve', email: 'x' },
    a: 'b',
    other: { name: 'y' },
  })
  expect(nest('user=x&user[name]=Ada')).toEqual({ user: { name: 'Ada' } })
  expect(nest('user[name]=Ada&user=x')).toEqual({ user: 'x' })
  expect(nest('user[]=a&user[a][b]=c')).toEqual({ 'user[]': 'a', 'user[a][b]': 'c' })
})

test('accepts names that every object has, and keeps thousands of fields', () => {
  const odd = nestFields(new URLSearchParams('__proto__[admin]=1&user[__proto__]=x&user[constructor]=y'))
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
  expect(Object.keys(odd)).toEqual(['__proto__', 'user'])
  expect(Object.keys(odd.user as object)).toEqual(['__proto__', 'constructor'])
  const many = Array.from({ length: 7_000 }, (_, i) => [`user[${i}]`, `${i}`] as [string, string])
  expect(nestFields(many).user).toEqual(Object.fromEntries(many.map(([, i]) => [i, i])))
})
