import {
  CreateLaunchTemplateCommand,
  DescribeImagesCommand,
  DescribeLaunchTemplatesCommand,
  EC2Client,
  type EC2ClientConfig,
} from '@aws-sdk/client-ec2'

/** Creates our launch template on another EC2 server (moto), from its first image. moto starts with no templates. */
export async function ensureLaunchTemplate(
  config: EC2ClientConfig & { endpoint: string },
  name: string,
): Promise<void> {
  const ec2 = new EC2Client(config)
  try {
    const { LaunchTemplates } = await ec2
      .send(new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [name] }))
      .catch(() => ({ LaunchTemplates: [] }))
    if (LaunchTemplates?.length) return
    const { Images } = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'] }))
    const ImageId = Images?.[0]?.ImageId
    if (!ImageId) throw new Error('it offers no image')
    await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName: name, LaunchTemplateData: { ImageId } }))
  } catch (error) {
    console.warn(`EC2_ENDPOINT ${config.endpoint} has no launch template "${name}", and creating it failed: ${error}`)
  } finally {
    ec2.destroy()
  }
}
