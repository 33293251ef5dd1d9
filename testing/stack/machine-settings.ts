import { ACCOUNT_ID, openIdentities } from '../../dev/ec2/identity.ts'
import { Store } from '../../dev/stand-in/store.ts'

/** Settings by which a site knows its machines. */
export const MACHINES = {
  AWS_ACCOUNT_ID: ACCOUNT_ID,
  AWS_IDENTITY_CERTIFICATE: openIdentities(new Store(null)).certificate,
}
