import { CreateLaunchTemplateCommand, DescribeImagesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { ec2ProtocolSuite } from './ec2-protocol.ts'
import { startMoto } from './moto-server.ts'

ec2ProtocolSuite('EC2 protocol: moto', {
  async start() {
    const moto = await startMoto()
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' }
    const ec2 = new EC2Client({ endpoint: moto.endpoint, region: 'us-east-1', maxAttempts: 1, credentials })
    const { Images } = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'] }))
    const ImageId = Images?.[0]?.ImageId
    if (!ImageId) throw new Error('moto offers no image to launch.')
    const LaunchTemplateName = 'simulator'
    const LaunchTemplateData = { ImageId }
    await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName, LaunchTemplateData }))
    ec2.destroy()
    return { ...moto, launch: { LaunchTemplate: { LaunchTemplateName, Version: '1' } } }
  },
})
