import { expect, test } from 'vitest'
import { keepText } from '../../src/domain/ending.ts'

test('what to keep before a disk is erased depends on what stays', () => {
  expect(keepText(true)).toBe('Files in /data stay. First download anything else you want to keep.')
  expect(keepText(false)).toBe('First download anything you want to keep.')
})
