# Calls the functions of a Ruby recipe according to lines of JSON.
require 'json'
require_relative 'recipe'

def perform(told)
  { result: send(told['call'], *arguments(told)) }
rescue StandardError => e
  { error: e.inspect, ended: ended(e) }
end

# Tokens may come from to_hash, whose keys are symbols in new versions, or from stored JSON. `disconnect` gets symbols.
def arguments(told)
  told['call'] == 'disconnect' ? told['args'].map { |tokens| tokens.transform_keys(&:to_sym) } : told['args']
end

$stdin.each_line do |line|
  puts JSON.generate(perform(JSON.parse(line)))
  $stdout.flush
end
