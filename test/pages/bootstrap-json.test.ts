import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bootstrapJson } from '../../src/pages/bootstrap-json.ts'

test('any value survives, and nothing in it can end the script or a line', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = bootstrapJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(text).not.toMatch(/[<>&\u2028\u2029]/)
    }),
  )
})

test('a name that is markup stays a name', () => {
  const text = bootstrapJson({ name: '</script><!--\u2028' })
  expect(text).not.toContain('<')
  expect(JSON.parse(text)).toEqual({ name: '</script><!--\u2028' })
})
